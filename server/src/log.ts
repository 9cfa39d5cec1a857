import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * The process log: JSON lines on standard output. What is secret never reaches it: credentials are cut out here,
 * message bodies and webhook secrets are not passed to it in the first place.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'authorization',
          'password',
          'secret',
          'token',
          'key',
          'headers.authorization',
          'headers["x-api-key"]',
          'headers.cookie',
          'req.headers.authorization',
          'req.headers["x-api-key"]',
        ],
        censor: '[redacted]',
      },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
}

/** A path and query fit for the log, without the deprecated `?key=` credential and the tokens that networks show. */
export function redactUrl(url: string): string {
  return url.replace(/([?&](?:key|[\w.-]*token)=)[^&#]*/gi, '$1[redacted]');
}
