const silenced = new WeakSet<Console>();

/** Prevents libsignal from writing to the console, where it prints whole sessions, including keys, in regular use. */
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
