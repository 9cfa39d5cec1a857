/** Facts about a file besides its type and size. Fields that are unknown, or do not apply, are left out. */
export interface MediaFacts {
  /** Pixels, as shown: after its orientation was applied. */
  readonly width?: number;
  readonly height?: number;
  readonly durationSeconds?: number;
  /** Loudness over the duration of a voice message: 64 values from 0 to 100. */
  readonly waveform?: readonly number[];
  /** A small picture of it exists; `NetworkMedia.thumbnail` reads it. */
  readonly hasThumbnail?: true;
}

/** Reads the thumbnail of a file, a JPEG of at most 160 pixels; null if it no longer exists. */
export type ReadThumbnail = () => Promise<Buffer | null>;

export interface FileRule {
  /** The types that apps of the network show. Other types are converted to the first one. */
  readonly mimeTypes: readonly string[];
  readonly maxBytes: number;
}

export interface StickerRule {
  /** Of a WebP of 512 × 512 pixels. */
  readonly maxBytes: number;
  readonly maxAnimatedBytes: number;
}

/**
 * The files that apps of a network can show or play. The server converts a file before it stores the message, or
 * refuses it. Files of a type without a rule are sent as they are.
 */
export interface MediaRules {
  readonly image?: FileRule;
  readonly video?: FileRule;
  readonly audio?: FileRule;
  /** Opus in Ogg, mono. */
  readonly voice?: { readonly maxBytes: number };
  readonly sticker?: StickerRule;
}
