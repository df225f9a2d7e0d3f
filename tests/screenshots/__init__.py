"""Pictures of every page of the console, taken from a demo that is started for them.

make screenshots FOLDER=/tmp/screenshots
"""
