import type { Referral } from './contentParts.ts';
import type { NetworkChat } from './messageKey.ts';
import type { NetworkMedia } from './networkMedia.ts';

/* The parts of business numbers: templates, a profile of the business, and the network's judgment of the number. */

/** The network's judgment of a template or a number by the reactions of recipients. */
export type Quality = 'high' | 'medium' | 'low' | 'unknown';

/** A text that the network approves before it can be sent as a template. */
export interface NetworkTemplate {
  readonly templateId: string;
  readonly name: string;
  /** Such as `en_US`. */
  readonly language: string;
  /** Such as `approved`, `pending`, `rejected`, `paused` or `disabled`. */
  readonly status: string;
  /** Such as `marketing`, `utility` or `authentication`. */
  readonly category: string;
  /** Header, body, footer and buttons, in the network's own format. */
  readonly components: readonly Readonly<Record<string, unknown>>[];
  readonly quality: Quality | null;
  /** Why the network rejected it; null if it did not. */
  readonly rejectionReason: string | null;
}

export type TemplateCategory = 'marketing' | 'utility' | 'authentication';

export interface TemplateDraft {
  readonly name: string;
  readonly language: string;
  readonly category: TemplateCategory;
  readonly components: NetworkTemplate['components'];
  /** Example of the file in the header. Only with the capability `template_files`. */
  readonly headerFile?: NetworkMedia;
}

export interface TemplateChange {
  readonly category?: TemplateCategory;
  /** Replaces all components. */
  readonly components?: NetworkTemplate['components'];
  /** Example of the file in the header of `components`. Only with the capability `template_files`. */
  readonly headerFile?: NetworkMedia;
}

export interface TemplateFilter {
  readonly name?: string;
  readonly status?: string;
  readonly language?: string;
}

export interface TemplatePage {
  readonly templates: readonly NetworkTemplate[];
  /** Where the next page starts; null on the last one. */
  readonly next: string | null;
}

/** The templates of the business account to which the session's number belongs. */
export interface TemplateActions {
  /** @param after `next` of the previous page */
  list(filter: TemplateFilter, page: { readonly after?: string; readonly limit: number }): Promise<TemplatePage>;
  /** @throws {AppError} `not_found` */
  get(templateId: string): Promise<NetworkTemplate>;
  create(draft: TemplateDraft): Promise<NetworkTemplate>;
  /** @throws {AppError} `not_found` */
  update(templateId: string, change: TemplateChange): Promise<NetworkTemplate>;
  /** @throws {AppError} `not_found` */
  remove(templateId: string): Promise<void>;
}

/** The fields that the business can change through the network's API. */
export interface OwnBusinessProfile {
  readonly address: string | null;
  readonly description: string | null;
  readonly email: string | null;
  readonly websites: readonly string[];
  /** The network's own name of the trade, such as `RETAIL`. */
  readonly vertical: string | null;
}

/** Changes of a business profile. An empty text or list removes the field. */
export interface BusinessProfileChange {
  readonly address?: string;
  readonly description?: string;
  readonly email?: string;
  readonly websites?: readonly string[];
  readonly vertical?: string;
}

/** A restriction of the number, its account or its business. */
export interface NumberProblem {
  /** Such as `phone_number` or `business_account`. */
  readonly concerns: string;
  /** In the network's words. */
  readonly message: string;
}

/** The network's judgment of the session's number. Null is unknown. */
export interface NumberState {
  /** The name that recipients see. */
  readonly displayName: string | null;
  /** Whether the network has approved the name, such as `approved` or `declined`. */
  readonly nameStatus: string | null;
  readonly quality: Quality | null;
  /** The network's name of the messaging limit, such as `TIER_2K`. */
  readonly messagingTier: string | null;
  /** People to whom the business may start to write within 24 hours; also null if there is no limit. */
  readonly messagingLimit: number | null;
  /** Such as `standard` or `high`. */
  readonly throughput: string | null;
  /** Such as `live` or `sandbox`. */
  readonly accountMode: string | null;
  readonly canSend: 'yes' | 'limited' | 'no' | null;
  readonly problems: readonly NumberProblem[];
}

/** A notice of the network about the account or the number, such as an imminent restriction. */
export interface AccountNotice {
  /** The network's name of it, such as `ACCOUNT_RESTRICTION`. */
  readonly type: string;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly message: string;
  /** True if the network has restricted the number or its account, false if it has lifted that. */
  readonly restricts?: boolean;
}

export type BusinessEvent =
  /** Fields that are left out did not change. */
  | {
      readonly type: 'number_updated';
      readonly state: Partial<NumberState>;
      readonly notice?: AccountNotice;
      readonly timestamp: number;
    }
  /** Fields that are left out did not change. */
  | {
      readonly type: 'template_updated';
      readonly templateId: string;
      readonly name: string;
      readonly language: string;
      /** `deleted` removes it. */
      readonly status?: string;
      readonly category?: string;
      readonly quality?: Quality;
      /** Why the network rejected, paused or disabled it. */
      readonly reason?: string;
      readonly timestamp: number;
    };

/** Place and time of an action by a person who reaches a business. */
interface Approach {
  /** The network's id of the report. */
  readonly networkId: string;
  readonly chat: NetworkChat;
  /** Digits of the person, or a placeholder. */
  readonly from: string;
  readonly timestamp: number;
}

export type CustomerEvent =
  /** A person opened the chat for the first time, and has not written yet. */
  | (Approach & { readonly type: 'chat_opened'; readonly referral?: Referral })
  /** A person decided whether the business can call. */
  | (Approach & {
      readonly type: 'call_permission';
      readonly isGranted: boolean;
      /** End of the permission in ms; omitted if it is permanent or was refused. */
      readonly expiresAt?: number;
    })
  /** A person stopped or resumed marketing messages of the business. */
  | (Approach & { readonly type: 'marketing_choice'; readonly isStopped: boolean });

/** The price of a message, as the network reports it. */
export interface Pricing {
  /** Such as `marketing`, `utility` or `service`. */
  readonly category: string;
  readonly billable: boolean;
  /** Reason for the price, such as `regular`, `free_customer_service` or `free_entry_point`. */
  readonly type?: string;
  /** Unit of the price: `PMP` (per message) or `CBP` (per conversation). */
  readonly model?: string;
}

/** Finds the sessions of all nodes that a call of the network concerns, because several can share one callback URL. */
export interface CallbackDirectory {
  /** Replaces the keys of the session, such as the network's id of its number. */
  register(keys: readonly string[]): Promise<void>;
  /**
   * Returns the ids of other sessions of the connector with the key, also of those that are not connected, and only of
   * those whose option has the same value as this session's. The sessions may belong to other accounts.
   * @param option name of an option, such as the secret that signs the calls
   */
  peers(key: string, option: string): Promise<readonly string[]>;
}
