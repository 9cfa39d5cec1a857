export type Level = 'info' | 'warn' | 'error';
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;
export type Log = (level: Level, message: string, fields?: Fields) => void;

/** Writes one JSON line per entry. Callers never pass message texts or secrets. */
export function jsonLog(write: (line: string) => unknown = (line) => process.stderr.write(line)): Log {
  return (level, message, fields = {}) => {
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
