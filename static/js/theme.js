// Loaded before the first paint: a remembered theme wins over the system's, no flash. The
// same for keys that were switched off: no hint at them appears.
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") {
      document.documentElement.dataset.theme = theme;
    }
    if (localStorage.getItem("keys") === "off") document.documentElement.dataset.keys = "off";
  } catch {
    // Storage may be forbidden; then the system's theme holds, and keys are on.
  }
})();
