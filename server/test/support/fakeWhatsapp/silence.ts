const silenced = new WeakSet<Console>();

/** Keeps libsignal from writing to the console: it writes whole sessions, keys and all, on ordinary traffic. */
export function silenceLibsignal(output: Console = globalThis.console): void {
  if (silenced.has(output)) return;
  silenced.add(output);
  for (const method of ['info', 'warn', 'error'] as const) {
    const write = output[method].bind(output);
    output[method] = (...args: unknown[]) => {
      const isOfLibsignal = /node_modules[/\\]libsignal/.test(new Error().stack ?? '');
      if (!isOfLibsignal) write(...args);
    };
  }
}
