// Runs before the first paint, so that a chosen theme does not flash. Without a choice the system decides.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage may be shut off: the choice then lasts for the page */ }
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* see above */ }
      dispatchEvent(new Event("themechange"));
    });
    document.getElementById("stream")?.addEventListener("change", (event) => event.target.form.submit());
  });
})();
