Call `python_eval` now.
