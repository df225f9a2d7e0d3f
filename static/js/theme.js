// Loaded before the first paint: a remembered theme wins over the system's, no flash.
(() => {
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") {
      document.documentElement.dataset.theme = theme;
    }
  } catch {
    // Storage may be forbidden; then the system's theme holds.
  }
})();
