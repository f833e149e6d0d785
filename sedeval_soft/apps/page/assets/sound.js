/* The sound of a recording: its spectrogram as a strip of a figure, and what plays it, one at a time. */
SED.sound = (() => {
  const { element, colour } = SED;
  const HEIGHT = 68, GAP = 10, FREQUENCIES = [500, 2000, 8000, 32000, 128000];
  const player = new Audio();
  const state = { sound: null, loaded: null, failed: false, at: 0, moved: () => {} };

  const mel = (frequency) => 2595 * Math.log10(1 + frequency / 700);
  const hertz = (at) => 700 * (10 ** (at / 2595) - 1);
  const written = (frequency, small) => (frequency < 1000 ? `${Math.round(frequency)}${small ? "" : " Hz"}` : `${Number((frequency / 1000).toPrecision(3))}${small ? "k" : " kHz"}`);

  /* The spectrogram within a time, and its axis, in mel: bands are of equal width. */
  const strip = (sound, [begin, end]) => {
    const { seconds, bands, levels, level } = sound, n = level.length / bands, top = mel(sound.top);
    const first = Math.max(Math.floor((begin / seconds) * n), 0), last = Math.min(Math.ceil((end / seconds) * n), n);
    if (last <= first) return null;
    const rows = Array.from({ length: bands }, (_, band) => band);
    return {
      type: "heatmap", yaxis: "y2", name: "spectrogram", zmin: 0, zmax: levels, zsmooth: false, showscale: false,
      x: Array.from({ length: last - first + 1 }, (_, i) => ((first + i) * seconds) / n),
      y: Array.from({ length: bands + 1 }, (_, band) => (band * top) / bands),
      z: rows.map((band) => level.subarray(band * n + first, band * n + last)),
      text: rows.map((band) => new Array(last - first).fill(written(hertz(((band + 0.5) * top) / bands)))),
      colorscale: [[0, colour("cold")], [1, colour("heat")]], hovertemplate: "%{x:.2f} s<br>%{text}<extra></extra>",
    };
  };
  const axis = (sound, small) => {
    const top = mel(sound.top), room = (13 / HEIGHT) * top;
    const shown = FREQUENCIES.filter((frequency, i) => mel(frequency) < top - room / 2 && (!i || mel(frequency) - mel(FREQUENCIES[i - 1]) > room));
    return { range: [0, top], fixedrange: true, showgrid: false, zeroline: false, automargin: false, ticks: "", anchor: "x",
      tickvals: shown.map(mel), ticktext: shown.map((frequency) => written(frequency, small)), tickfont: { size: small ? 10 : 11, color: colour("soft-ink") } };
  };

  const playable = (sound) => Boolean(sound) && (sound.inside !== null || sound.address !== null);

  const load = () => {
    const { sound } = state;
    if (state.loaded === sound) return;
    if (player.src.startsWith("blob:")) URL.revokeObjectURL(player.src);
    if (sound.inside === null) player.src = sound.address;
    else {
      const bytes = Uint8Array.from(atob(element(`sound-${sound.inside}`).textContent), (c) => c.charCodeAt(0));
      player.src = URL.createObjectURL(new Blob([bytes], { type: "audio/flac" }));
    }
    state.loaded = sound;
  };
  const tell = () => {
    const { sound, failed, at } = state;
    const beside = failed && sound.address !== null ? ` It should be beside this page, as ${decodeURIComponent(sound.address)}.` : "";
    element("timeline-play").textContent = player.paused ? "▶ Play" : "❚❚ Pause";
    element("timeline-at").textContent = failed ? `The sound cannot be played.${beside}` : `${at.toFixed(2)} s of ${sound.seconds.toFixed(2)} s`;
  };
  const fail = () => {
    player.pause();
    state.failed = true;
    tell();
  };
  const move = (at) => {
    const before = state.at;
    state.at = at;
    tell();
    state.moved(before);
  };
  const follow = () => {
    if (player.paused) return;
    move(player.currentTime);
    requestAnimationFrame(follow);
  };
  const play = (from) => {
    load();
    player.currentTime = Math.min(Math.max(from, 0), state.sound.seconds);
    move(player.currentTime);
    // Another recording may be chosen before this one plays, or it may be paused.
    player.play().catch((error) => error.name !== "AbortError" && state.sound && fail());
  };

  player.addEventListener("play", follow);
  for (const name of ["pause", "ended"]) player.addEventListener(name, () => state.sound && tell());

  return {
    HEIGHT, GAP, strip, axis, playable, play,
    pause: () => player.pause(),
    at: () => state.at,
    playing: () => !player.paused,
    /* Choose a recording's sound, or none, and where in it to begin; moved(before) is called when the time changes. */
    choose(sound, at, moved) {
      player.pause();
      Object.assign(state, { sound: playable(sound) ? sound : null, failed: false, moved });
      element("timeline-player").hidden = !state.sound;
      if (state.sound) move(Math.min(at, sound.seconds)); else moved(0);
    },
  };
})();
