// A link restores the settings, never the data. It is a fragment, which a browser sends to nobody.
export function link(state) {
  const parts = new URLSearchParams();
  if (state.given.sample) parts.set("sample", state.given.sample);
  parts.set("unit", state.unit);
  if (state.ticks) parts.set("ticks", state.ticks);
  if (state.kind !== "pure") parts.set("kind", state.kind);
  if (state.delta) parts.set("delta", state.delta);
  parts.set("strength", state.stop);
  parts.set("methods", [...state.methods].join(","));
  if (state.seed !== null) parts.set("seed", state.seed);
  if (state.mode !== "whole") parts.set("mode", state.mode);
  return `#${parts}`;
}

export function readLink(choices, usual) {
  const parts = new URLSearchParams(location.hash.slice(1)), found = {};
  const whole = (text, least, most) => (/^\d+$/.test(text ?? "") && Number(text) >= least && Number(text) <= most ? Number(text) : null);
  if (choices.samples.some((sample) => sample.name === parts.get("sample"))) found.given = { sample: parts.get("sample") };
  const kind = choices.kinds.find((one) => one.name === parts.get("kind")) ?? choices.kinds[0];
  if (kind.name !== usual.kind) Object.assign(found, { kind: kind.name, stop: kind.usual_stop });
  if (kind.deltas.length) found.delta = kind.deltas.includes(parts.get("delta")) ? parts.get("delta") : kind.usual_delta;
  const unit = choices.units.find((one) => one.name === parts.get("unit"));
  if (unit) {
    found.unit = unit.name;
    found.methods = new Set(unit.fitting[kind.name].chosen);
    found.ticks = unit.ticks ? whole(parts.get("ticks"), 1, choices.limits.ticks) ?? unit.usual : null;
  }
  const stop = whole(parts.get("strength"), 0, kind.stops.length - 1);
  if (stop !== null) found.stop = stop;
  const methods = (parts.get("methods") ?? "").split(",").filter((name) => name in choices.methods);
  if (methods.length) found.methods = new Set(methods);
  const seed = whole(parts.get("seed"), 0, 2 ** 32 - 1);
  if (parts.size) found.seed = seed ?? (found.given ? null : usual.seed);
  if (["step", "type"].includes(parts.get("mode"))) found.mode = parts.get("mode");
  return found;
}
