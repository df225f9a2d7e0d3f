"""Request and response bodies of the loop's API, one module for each subject."""
