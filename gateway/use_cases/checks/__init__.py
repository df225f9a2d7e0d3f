"""Quality gates of a step: asked, answered by a verdict, and read again."""
