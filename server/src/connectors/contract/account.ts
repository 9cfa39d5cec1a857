/* The account of a session: its privacy, devices and ids, and the profiles and catalogs of businesses. */

/** `contacts_except`: the contacts without those whom the owner has excluded on the phone. */
export type Audience = 'everyone' | 'contacts' | 'contacts_except' | 'nobody';

export interface PrivacySettings {
  readonly lastSeen: Audience;
  readonly online: 'everyone' | 'same_as_last_seen';
  readonly profilePicture: Audience;
  readonly about: Audience;
  /** Whether others see that the session has read their messages. */
  readonly readReceipts: boolean;
  /** People who can add the session to groups. */
  readonly groupAdd: Audience;
  /** Callers: everyone, or people whom the session knows. */
  readonly calls: 'everyone' | 'known';
  /** How long messages of new chats stay; 0 keeps them. */
  readonly disappearingSeconds: number;
}

export interface PrivacyActions {
  read(): Promise<PrivacySettings>;
  /** Sets the given ones, in this order. */
  update(change: Partial<PrivacySettings>): Promise<void>;
}

export interface BusinessProfile {
  readonly description: string | null;
  readonly category: string | null;
  readonly address: string | null;
  readonly email: string | null;
  readonly websites: readonly string[];
  /** Null if it shows none. */
  readonly hours: BusinessHours | null;
}

export interface BusinessHours {
  /** Such as `Europe/Berlin`; null if the network does not report it. */
  readonly timeZone: string | null;
  readonly days: readonly BusinessDay[];
}

export interface BusinessDay {
  readonly day: 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';
  readonly mode: 'hours' | 'always' | 'appointment';
  /** Minutes since midnight, only with the mode `hours`. */
  readonly opens?: number;
  readonly closes?: number;
}

/** A product of a catalog. */
export interface CatalogProduct {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** In thousandths of the currency; null if it shows none. */
  readonly price: number | null;
  /** ISO 4217. */
  readonly currency: string | null;
  /** The business's own id of it. */
  readonly retailerId: string | null;
  readonly url: string | null;
  readonly imageUrl: string | null;
  readonly isHidden: boolean;
}

export interface CatalogPage {
  readonly products: readonly CatalogProduct[];
  /** The network's cursor of the next page; null on the last one. */
  readonly next: string | null;
}

export interface CatalogCollection {
  readonly id: string;
  readonly name: string;
  readonly products: readonly CatalogProduct[];
}

/** The businesses that the session sees, its own included. `phoneNumber` is in digits. */
export interface BusinessActions {
  /** Returns null if it is no business. */
  profile(phoneNumber: string): Promise<BusinessProfile | null>;
  /** @param after the cursor of the page before */
  catalog(phoneNumber: string, limit: number, after: string | null): Promise<CatalogPage>;
  collections(phoneNumber: string): Promise<readonly CatalogCollection[]>;
}

/** A device of the session's account. */
export interface LinkedDevice {
  readonly id: number;
  readonly isPhone: boolean;
  /** It is the device of this session. */
  readonly isOwn: boolean;
  /** Meta runs it for a business. */
  readonly isHosted: boolean;
  /** Grows with each device that is linked; null for the phone. */
  readonly keyIndex: number | null;
}

/** The two ids of a person. */
export interface PersonIds {
  /** Digits; null if it is not known. */
  readonly phoneNumber: string | null;
  /** Digits; null if it is not known, or the number is not on the network. */
  readonly lid: string | null;
}
