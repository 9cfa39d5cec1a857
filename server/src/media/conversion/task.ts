import type { FileRule, MediaFacts, MediaRules } from '../../connectors/contract/media.ts';

/** The purposes for which a file is prepared. */
export type Purpose = keyof MediaRules;

/** The purpose of a file, and the rule of its network. */
export type Order = { readonly mimeType: string } & (
  | { readonly purpose: 'image' | 'video' | 'audio'; readonly rule: FileRule }
  | { readonly purpose: 'voice'; readonly rule: NonNullable<MediaRules['voice']> }
  | { readonly purpose: 'sticker'; readonly rule: NonNullable<MediaRules['sticker']> }
);

/** Whether the network accepts a file of this type and size, as far as they tell. */
export function isAccepted({ purpose, rule, mimeType }: Order, bytes: number): boolean {
  switch (purpose) {
    case 'voice':
      return mimeType === 'audio/ogg' && bytes <= rule.maxBytes;
    case 'sticker':
      return mimeType === 'image/webp' && bytes <= rule.maxAnimatedBytes;
    default:
      return rule.mimeTypes.includes(mimeType) && bytes <= rule.maxBytes;
  }
}

/** A task for the process that converts files. */
export type Task = Order & { readonly content: Uint8Array };

/** The result of a task. */
export interface Prepared {
  /** The converted file; left out if the original can be sent. */
  readonly converted?: { readonly content: Uint8Array; readonly mimeType: string; readonly extension: string };
  readonly facts: MediaFacts;
  /** JPEG. */
  readonly thumbnail?: Uint8Array;
  /** Made without a library that would tell more, so it is not kept. */
  readonly isProvisional?: true;
}

/**
 * Why a file was not prepared. `unreadable`: it is damaged or of an unknown format. `refused`: it was read, and cannot
 * be sent. `missing`: a library is not installed. `failed`: its process took too long or ended.
 */
export type Reason = 'unreadable' | 'refused' | 'missing' | 'failed';

export class ConversionError extends Error {
  readonly reason: Reason;
  constructor(reason: Reason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export type Outcome =
  | { readonly prepared: Prepared }
  | { readonly failure: { readonly reason: Reason; readonly message: string } };

/** An outcome as the process sends it. `isLast`: it takes no more tasks, because it has kept too much memory. */
export type Report = Outcome & { readonly isLast: boolean };
