/*
 * Limits of the replies of brokers. A client library trusts the lengths and counts of its broker: it allocates an array
 * of a million elements for ten bytes, or walks a list of as many. An inspector follows the bytes before the library
 * does, and allows only the replies that publishing needs, with lengths that have a bound.
 */

/** The broker sent something that publishing gives it no reason to send. */
export class UnexpectedData extends Error {
  readonly code = 'ERR_UNEXPECTED_DATA';

  /** @param what continues the sentence "The broker was disconnected because it …" */
  constructor(what: string) {
    super(`it ${what}`);
  }
}

/** Follows the bytes of one connection. */
export interface Inspector {
  /**
   * Inspects the next bytes, before the client sees them. Returns the number of bytes that the client sends back by
   * itself because of them.
   * @throws {UnexpectedData} if the client must not see them
   */
  read(chunk: Buffer): number;
}
