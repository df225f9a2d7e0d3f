"""The phrases a policy starts with.

Each is written once: "i'll" also finds "I will", "here's" also "here is", and marks
between the words do not count.
"""

from __future__ import annotations

# The agent says that it goes on.
INTENT_PHRASES = (
    "let me continue",
    "i'll continue",
    "now i'll",
    "next, i'll",
    "moving on to",
    "proceed with",
    "now let me",
    "i'll now",
    "next step",
    "continuing with",
    "now i need to",
    "i still need to",
    "remaining steps",
    "let's continue",
    "let me proceed",
    "let me now",
    "let me start",
    "let me check",
    "let me look at",
    "let me run",
    "let me fix",
    "let me update",
    "let me verify",
    "let me try",
    "i'll proceed",
    "i'll start",
    "i'll begin",
    "i'll move on",
    "i'm going to",
    "then i'll",
    "i still have to",
    "on to the next",
    "remaining tasks",
)

# The agent says that it is done. These win over every intent.
COMPLETION_PHRASES = (
    "task is complete",
    "i'm done",
    "all changes have been made",
    "the implementation is complete",
    "finished implementing",
    "all files have been",
    "everything is now",
    "successfully completed",
    "i have completed",
    "the bug is fixed",
    "task is now complete",
    "task is done",
    "task is finished",
    "task has been completed",
    "all tasks are complete",
    "all tasks are done",
    "all done",
    "i'm finished",
    "implementation is now complete",
    "the implementation is done",
    "the work is complete",
    "the work is done",
    "everything is done",
    "everything is complete",
    "everything is in place",
    "all changes are in place",
    "all changes have been applied",
    "the bug has been fixed",
    "the issue is fixed",
    "the issue has been fixed",
    "the issue is resolved",
    "the issue has been resolved",
    "this completes the",
    "that completes the",
    "nothing left to do",
    "nothing more to do",
    # Going on with a summary is no going on.
    "continue with a summary",
    "proceed with a summary",
    "conclude with a summary",
    "finish with a summary",
    "end with a summary",
    "wrap up with a summary",
    "now let me summarize",
    "let me now summarize",
    "i'll now summarize",
    "now i'll summarize",
)

# The agent looks back, or hands over.
SUMMARY_PHRASES = (
    "to summarize",
    "in summary",
    "here's a summary",
    "let me summarize",
    "overview of changes",
    "here's what was done",
    "recap of",
    "let me know if",
    "when you're ready",
    "waiting for your",
    "please review",
    "summarize",
    "summarise",
    "a summary",
    "summary of changes",
    "summary of the changes",
    "overview of the changes",
    "here's an overview",
    "here's what i did",
    "here's what changed",
    "to sum up",
    "to recap",
    "in conclusion",
    "please check",
    "feel free to",
)

NUDGE = (
    "You stopped before the work was done. Go on with the next step now, and make the "
    "tool calls it needs. If the work is done, say so and sum it up. If you need a "
    "decision, ask for it."
)
