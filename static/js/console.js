// Everything the console adds to plain pages. Reading works without any of it.
import "./rowsync.js";
import "./live.js";
import "./times.js";
import "./queue.js";
import "./cursor.js";
import "./drafts.js";
import "./key_map.js";
import "./selection.js";
import "./keys.js";
import "./folds.js";
import "./next_review.js";
import "./held.js";
import "./palette.js";
import "./notices.js";
import "./dialogs.js";
import "./menus.js";
import "./takeovers.js";
import "./teamwork.js";
import "./presence.js";

// A row of tabs that is wider than a phone: the one that is open is in sight.
const tab = document.querySelector(".views [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;
