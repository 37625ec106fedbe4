import { connect, fill, page, setNumber } from "./connection.js";

const body = document.getElementById("rows");

connect((release) => {
  if (!body) { fill(release); return; }
  const ranked = release.keys.filter((row) => row.rank !== null).sort((a, b) => a.highest + a.lowest - b.highest - b.lowest || (a.key < b.key ? -1 : 1));
  const lines = new Map([...body.children].map((line) => [line.dataset.key, line]));
  if (!ranked.length || ranked.some((row) => !lines.has(row.key))) { location.reload(); return; }
  const edge = ranked.reduce((most, row) => Math.max(most, row.upper ?? 0), 1);
  let before = null;
  const focused = document.activeElement;
  ranked.forEach((row, i) => {
    const line = lines.get(row.key);
    lines.delete(row.key);
    if (body.children[i] !== line) body.insertBefore(line, body.children[i] ?? null);
    const kind = (row.highest === row.lowest ? "" : "tied") + (before !== null && before !== row.group ? " gap" : "");
    if (line.className !== kind) line.className = kind;
    before = row.group;
    const rank = line.querySelector(".rank span");
    if (rank.textContent !== row.rank) rank.textContent = row.rank;
    rank.title = row.highest === row.lowest ? "" : `between place ${row.highest} and ${row.lowest}`;
    setNumber(line.querySelector(".now"), row, release.predicted);
    const svg = line.querySelector(".whisker svg");
    svg.setAttribute("aria-label", row.interval);
    const at = (n) => ((1000 * (n ?? 0)) / edge).toFixed(1);
    svg.children[0].setAttribute("x", at(row.lower));
    svg.children[0].setAttribute("width", Math.max(4, at(row.upper) - at(row.lower)));
    svg.children[1].setAttribute("x", at(row.value));
  });
  for (const line of lines.values()) line.remove();
  if (focused && focused !== document.activeElement) focused.focus();
});
export { page };
