// Everything the console adds to plain pages. Reading works without any of it.
import "./rowsync.js";
import "./live.js";
import "./times.js";
import "./queue.js";
import "./cursor.js";
import "./drafts.js";
import "./keys.js";
import "./dialogs.js";
import "./menus.js";
import "./takeovers.js";
