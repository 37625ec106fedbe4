"""Text that is hard to read: a script for the browser, which lists what has less contrast than WCAG AA asks for."""

CONTRAST = """() => {
  const light = c => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4 });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2] };
  const rgb = s => (s.match(/[\\d.]+/g) || []).map(Number);
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c.slice(0, 3) } return [255, 255, 255] };
  const bad = [];
  for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg, script, [hidden], .hidden, .skip')) continue;
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(e); if (style.visibility === 'hidden' || !e.getClientRects().length) continue;
    const a = light(rgb(style.color).slice(0, 3)), b = light(ground(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push(`${e.tagName}.${e.className}: ${ratio.toFixed(2)}`);
  }
  return bad;
}"""
