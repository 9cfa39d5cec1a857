import type { Profile, ProfileActions, ProfileChange } from '../connector.ts';

/** What a number of the network shows of itself. */
export interface SandboxProfile extends Profile {
  readonly name: string | null;
}

/** The profiles of all numbers, wherever their sessions are. They outlive restarts, and go when a number is given up. */
export interface ProfileBook {
  /** Of a number that has shown nothing, all of it null. */
  read(number: string): Promise<SandboxProfile>;
  /** @param sessionId whose number it is */
  change(number: string, sessionId: string, change: ProfileChange): Promise<void>;
  /** The session gives the number up. */
  forget(number: string, sessionId: string): Promise<void>;
}

/** @param onName the number is called this from now on */
export function createProfileActions(
  book: ProfileBook,
  self: {
    readonly number: string;
    readonly sessionId: string;
    /** @throws {AppError} `session_not_connected` */
    requireOnline(): void;
  },
  onName: (name: string) => void,
): ProfileActions {
  return {
    async read(phoneNumber) {
      self.requireOnline();
      const { about, picture } = await book.read(phoneNumber);
      return { about, picture };
    },
    async update(change) {
      self.requireOnline();
      await book.change(self.number, self.sessionId, change);
      if (change.name !== undefined) onName(change.name);
    },
  };
}
