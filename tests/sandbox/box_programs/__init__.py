"""Programs that tests run in a box in place of a runner or a grader."""
