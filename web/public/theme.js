// Runs before the first paint, so that a chosen theme does not flash into place.
try {
    const theme = localStorage.getItem("judge:theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
    // Storage is refused: the system's theme it is.
}
