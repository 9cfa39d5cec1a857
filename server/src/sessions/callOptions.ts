import type { Options } from './options.ts';

/** Returns the text that a session with these options sends to people who call it. */
export function callTextOf(options: Options): string | undefined {
  const { autoReject, message } = callsOf(options);
  return autoReject === true ? message : undefined;
}

/** The schema of the connector, which has this option, has validated it. */
export function callsOf(options: Options): { readonly autoReject?: boolean; readonly message?: string } {
  return options['calls'] ?? {};
}
