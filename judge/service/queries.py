"""The SQL that is clearer as SQL."""

from __future__ import annotations

from sqlalchemy import and_, func, select, text

from judge.service.queue import JOB
from judge.service.tables import JUDGINGS, SUBMISSIONS

_OLDER = JUDGINGS.alias("each")
_NEWEST = (
    select(func.max(_OLDER.c.number))
    .where(_OLDER.c.submission_id == SUBMISSIONS.c.id)
    .scalar_subquery()
)
_SUBMISSION = (
    SUBMISSIONS.c.student,
    SUBMISSIONS.c.open,
    SUBMISSIONS.c.kind,
    SUBMISSIONS.c.problem,
    SUBMISSIONS.c.created_at.label("submitted_at"),
)
_WITH_NEWEST = SUBMISSIONS.join(
    JUDGINGS,
    and_(JUDGINGS.c.submission_id == SUBMISSIONS.c.id, JUDGINGS.c.number == _NEWEST),
)

# Submissions with their newest judging, without the result itself.
SUBMISSIONS_BRIEFLY = select(
    *_SUBMISSION, *(column for column in JUDGINGS.c if column.name != "result")
).select_from(_WITH_NEWEST)

# --- what every submission needs ------------------------------------------------------------------
# For plain connections (`judge.service.pool`), so with psycopg's placeholders. ACCEPT, QUEUE,
# REPLAY, ONE_AT_A_TIME, LOAD, HOUR, LOCK_SUBMISSION and NEWEST are parts of a transaction; every
# other is one by itself.

# What is done again after a crash of the database anyway does not wait for the disk.
_LAZILY = "set_config('synchronous_commit', 'off', true)"

# A submission with its newest judging, whole.
SUBMISSION = """
    SELECT submission.student, submission.open, submission.kind, submission.problem,
        submission.created_at AS submitted_at, judging.submission_id, judging.id, judging.number,
        judging.state, judging.problem_version, judging.seed, judging.attempts, judging.worker,
        judging.created_at, judging.claimed_at, judging.finished_at, judging.verdict, judging.score,
        judging.failed_tier, judging.judged_ms, judging.result
    FROM submissions AS submission JOIN judgings AS judging
        ON judging.submission_id = submission.id
    WHERE submission.id = %(submission)s
    ORDER BY judging.number DESC LIMIT 1
"""

# One row of a judging that is now this worker's; none when it is finished, or gone. `restarted` and
# `started` are events; the first is written when an earlier attempt is void.
CLAIM = f"""
    WITH claimed AS (
        UPDATE judgings
        SET state = 'judging', attempts = attempts + 1, worker = %(worker)s,
            claimed_at = clock_timestamp()
        WHERE id = %(judging)s AND state <> 'finished'
        RETURNING *
    ), told AS (
        INSERT INTO events (judging_id, data)
        SELECT claimed.id, each.event
        FROM claimed,
            unnest(ARRAY[CAST(%(restarted)s AS json), CAST(%(started)s AS json)])
            WITH ORDINALITY AS each (event, place)
        WHERE claimed.attempts > 1 OR each.place = 2
        ORDER BY each.place
    )
    SELECT claimed.submission_id, claimed.number, claimed.attempts, claimed.problem_version,
        claimed.seed, claimed.accepted_ms, submission.kind, submission.problem,
        CAST(extract(epoch FROM claimed.claimed_at - claimed.created_at) * 1000
            AS double precision) AS queued_ms,
        ARRAY(SELECT name FROM sources
            WHERE submission_id = submission.id ORDER BY name) AS names,
        ARRAY(SELECT content FROM sources
            WHERE submission_id = submission.id ORDER BY name) AS contents,
        pg_notify(%(channel)s, submission.id), {_LAZILY}
    FROM claimed JOIN submissions AS submission ON submission.id = claimed.submission_id
"""  # noqa: S608  # no value is put into the text

# One row when the attempt holds the lease and the events are written, else none. A new claim waits
# for this statement, and this for it.
APPEND = f"""
    WITH lease AS (
        SELECT id, submission_id FROM judgings
        WHERE id = %(judging)s AND attempts = %(lease)s AND worker = %(worker)s
            AND state = 'judging'
        FOR SHARE
    ), told AS (
        INSERT INTO events (judging_id, data)
        SELECT lease.id, each.event
        FROM lease, json_array_elements(CAST(%(events)s AS json))
            WITH ORDINALITY AS each (event, place)
        ORDER BY each.place
    )
    SELECT pg_notify(%(channel)s, submission_id), {_LAZILY} FROM lease
"""  # noqa: S608  # as above

# The verdict, the last events and the count of verdicts. One row when this is the verdict; none
# when there is one already, or, unless `by_anybody`, when somebody else has the lease.
FINISH = """
    WITH finished AS (
        UPDATE judgings
        SET state = 'finished', finished_at = clock_timestamp(), verdict = %(verdict)s,
            score = %(score)s, sandbox = %(sandbox)s, image = %(image)s,
            result = CAST(%(result)s AS json), failed_tier = %(failed_tier)s,
            judged_ms = %(judged_ms)s, grade_key = %(grade_key)s
        WHERE id = %(judging)s AND state <> 'finished' AND (
            %(by_anybody)s OR attempts = %(lease)s AND worker = %(worker)s
        )
        RETURNING id, submission_id, accepted_ms + CAST(
            extract(epoch FROM clock_timestamp() - created_at) * 1000 AS double precision
        ) AS waited_ms
    ), told AS (
        INSERT INTO events (judging_id, data)
        SELECT finished.id, each.event
        FROM finished, json_array_elements(CAST(%(events)s AS json))
            WITH ORDINALITY AS each (event, place)
        ORDER BY each.place
    ), counted AS (
        INSERT INTO tallies (kind, verdict, bucket_ms, count, total_ms)
        SELECT CAST(%(kind)s AS text), %(verdict)s,
            (SELECT min(bound) FROM unnest(CAST(%(bounds)s AS double precision[])) AS bound
                WHERE bound >= waited_ms),
            1, waited_ms
        FROM finished
        ON CONFLICT (kind, verdict, bucket_ms) DO UPDATE
        SET count = tallies.count + 1, total_ms = tallies.total_ms + excluded.total_ms
    )
    SELECT pg_notify(%(channel)s, submission_id) FROM finished
"""

# A submission and its files.
ACCEPT = """
    WITH accepted AS (
        INSERT INTO submissions
            (id, student, open, kind, problem, idempotency_key, request_hash)
        VALUES (%(id)s, %(student)s, %(open)s, %(kind)s, %(problem)s, %(idempotency_key)s,
            %(request_hash)s)
    )
    INSERT INTO sources (submission_id, name, content)
    SELECT %(id)s, each.name, each.content
    FROM unnest(CAST(%(names)s AS text[]), CAST(%(contents)s AS bytea[])) AS each (name, content)
"""

# A judging, its first event, which says how many are ahead of it, and its job.
QUEUE = f"""
    WITH judging AS (
        INSERT INTO judgings (submission_id, number, state, problem_version, seed, priority,
            accepted_ms, created_at)
        VALUES (%(submission)s, %(number)s, 'queued', %(version)s, %(seed)s, %(priority)s,
            %(accepted_ms)s, clock_timestamp())
        RETURNING id
    ), told AS (
        INSERT INTO events (judging_id, data)
        SELECT id, json_build_object('type', 'queued', 'ahead', (
            SELECT count(*) FROM judgings AS other
            WHERE other.state = 'queued' AND other.priority >= %(priority)s
        ))
        FROM judging
    )
    SELECT id, {JOB} FROM judging
"""  # noqa: S608  # as above

# What came under the same key before.
REPLAY = """
    SELECT id, request_hash FROM submissions
    WHERE student = %(student)s AND idempotency_key = %(idempotency_key)s
"""

# Of one student, one transaction after another sees what the one before has made.
ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(hashtextextended(%(student)s, 0))"

LOAD = """
    SELECT count(*) AS everybody, count(*) FILTER (WHERE submission.student = %(student)s) AS mine
    FROM judgings AS judging JOIN submissions AS submission
        ON submission.id = judging.submission_id
    WHERE judging.state <> 'finished'
"""

# Seconds until there is room for one more: until the oldest of the last hour's leaves it.
HOUR = """
    SELECT CAST(
        extract(epoch FROM judging.created_at + interval '1 hour' - now()) AS double precision
    ) AS wait_s
    FROM judgings AS judging JOIN submissions AS submission
        ON submission.id = judging.submission_id
    WHERE submission.student = %(student)s AND judging.created_at > now() - interval '1 hour'
    ORDER BY judging.created_at DESC OFFSET %(quota)s - 1 LIMIT 1
"""

# A submission that nobody else may judge again meanwhile; and its newest judging, which is asked
# for after that.
LOCK_SUBMISSION = "SELECT student FROM submissions WHERE id = %(submission)s FOR UPDATE"
NEWEST = """
    SELECT number, state, seed FROM judgings WHERE submission_id = %(submission)s
    ORDER BY number DESC LIMIT 1
"""

EVENTS_AFTER = """
    SELECT id, CAST(data AS text) AS data FROM events
    WHERE judging_id = %(judging)s AND id > %(after)s
    ORDER BY id LIMIT %(limit)s
"""

# --- what is rarer --------------------------------------------------------------------------------

AHEAD = text("""
    SELECT count(*)
    FROM judgings AS mine JOIN judgings AS other
        ON (other.priority, mine.id) > (mine.priority, other.id)
    WHERE mine.id = :judging AND other.state = 'queued'
""")

# Submissions of all tiers and of tests, each with its newest verdict. One that is our fault counts
# nowhere.
_JUDGED = """
    SELECT submission.id, submission.kind, submission.problem, submission.student,
        submission.created_at, judging.verdict, judging.failed_tier
    FROM submissions AS submission JOIN judgings AS judging
        ON judging.submission_id = submission.id
    WHERE submission.kind IN ('submit', 'tests') AND judging.verdict <> 'JE' AND {condition}
        AND NOT EXISTS (
            SELECT FROM judgings AS later
            WHERE later.submission_id = judging.submission_id AND later.number > judging.number
                AND later.verdict <> 'JE'
        )
"""

_BY_STUDENT = "submission.student = :student AND :problem IN ('', submission.problem)"

# Whether any was accepted; null when there was none.
_ACCEPTED = "bool_or(verdict = 'AC') FILTER (WHERE kind = 'submit') AS accepted"
_TESTS_PASSED = "bool_or(verdict = 'AC') FILTER (WHERE kind = 'tests') AS tests_passed"

# How far a student has come with each exercise they tried.
PROGRESS = text(f"""
    SELECT problem, {_ACCEPTED}, {_TESTS_PASSED}, count(*) AS submissions,
        max(created_at) AS last_at,
        (array_agg(failed_tier ORDER BY created_at DESC) FILTER (WHERE kind = 'submit'))[1]
            AS failed_tier
    FROM ({_JUDGED.format(condition=_BY_STUDENT)}) AS judged
    GROUP BY problem
""")  # noqa: S608  # no value is put into the text

# Of the students who are somebody, how many tried each exercise, how many have a solution, and how
# many have tests as well.
PASS_RATES = text(f"""
    SELECT problem, count(*) AS tried, count(*) FILTER (WHERE accepted) AS accepted,
        count(*) FILTER (WHERE accepted AND tests_passed) AS with_tests
    FROM (
        SELECT problem, student, {_ACCEPTED}, {_TESTS_PASSED}
        FROM ({_JUDGED.format(condition="NOT submission.open")}) AS judged
        GROUP BY problem, student
    ) AS students
    GROUP BY problem HAVING count(*) >= :enough
""")  # noqa: S608  # as above

# The files of a student's newest accepted submission of all tiers to an exercise.
ACCEPTED_SOURCES = text(f"""
    SELECT name, content FROM sources
    WHERE submission_id = (
        SELECT id FROM ({_JUDGED.format(condition=_BY_STUDENT)}) AS judged
        WHERE kind = 'submit' AND verdict = 'AC'
        ORDER BY created_at DESC, id DESC LIMIT 1
    )
    ORDER BY name
""")  # noqa: S608  # as above

# The newest grade of students' tests that is kept under this key.
GRADED = text("""
    SELECT result FROM judgings WHERE grade_key = :grade_key
    ORDER BY finished_at DESC LIMIT 1
""")

# Only what has a verdict, and has had it for long.
EXPIRE_RUNS = text("""
    DELETE FROM submissions AS submission
    WHERE kind = 'run' AND created_at < now() - make_interval(secs => :runs_s) AND NOT EXISTS (
        SELECT FROM judgings AS judging
        WHERE judging.submission_id = submission.id AND (
            judging.state <> 'finished'
            OR judging.finished_at >= now() - make_interval(secs => :runs_s)
        )
    )
""")

EXPIRE_EVENTS = text("""
    DELETE FROM events USING judgings AS judging
    WHERE judging.id = events.judging_id
        AND judging.finished_at < now() - make_interval(secs => :events_s)
""")

EXPIRE_WORKERS = text("""
    DELETE FROM workers
    WHERE seen_at < now() - make_interval(secs => :worker_s)
""")

WORKERS_ALIVE = text("""
    SELECT id, host, pid, sandbox, slots, state, why, boxes FROM workers
    WHERE seen_at > now() - make_interval(secs => :alive_s)
    ORDER BY id
""")

STATS = text("""
    SELECT submission.kind,
        count(*) FILTER (WHERE judging.state = 'queued') AS waiting,
        count(*) FILTER (WHERE judging.state = 'judging') AS running,
        CAST(coalesce(
            max(extract(epoch FROM now() - judging.created_at))
                FILTER (WHERE judging.state = 'queued'), 0
        ) AS double precision) AS oldest_s
    FROM judgings AS judging JOIN submissions AS submission
        ON submission.id = judging.submission_id
    WHERE judging.state <> 'finished'
    GROUP BY submission.kind
""")
