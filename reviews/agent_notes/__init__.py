"""Notes to a running agent: a person tells it something without stopping it.

`note.added` is another thing: a remark about a run that no agent sees.
"""
