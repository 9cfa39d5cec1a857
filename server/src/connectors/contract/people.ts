export interface NetworkPerson {
  /** Digits of the phone number; those of a placeholder until the number is known. */
  readonly phoneNumber: string;
  /** The network's ids of the person, as far as they are known. */
  readonly networkIds: readonly string[];
}

/**
 * Whether these digits are a placeholder for somebody whose number the network hides: three zeros, with which no number
 * starts, and digits derived from the network's id of the person. Messages can be sent to a placeholder like to a
 * number.
 */
export const isPlaceholder = (digits: string): boolean => /^000\d{5,25}$/.test(digits);
