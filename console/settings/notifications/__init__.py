"""The tab Notifications: how one person is told that something waits."""
