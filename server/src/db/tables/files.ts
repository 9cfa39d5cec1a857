/** Files of accounts, and contents in the store. */
export interface FileTables {
  media: {
    account_id: string;
    media_id: string;
    /** SHA-256 of the content, in hexadecimal. Accounts may share a content, never a row. */
    hash: string;
    mime_type: string;
    size: number;
    file_name: string | null;
    created_at: number;
    /** JSON of `MediaFacts`; null if nothing is known. */
    facts: string | null;
    /** A JPEG in base64; null if there is none. */
    thumbnail: string | null;
    /** When it was last uploaded or sent, to the day; null for files from before this was stored. */
    used_at: number | null;
    /** When it last arrived, if it has only arrived in statuses and posts so far: then it is deleted with them. */
    transient_since: number | null;
  };
  /** The result of a file's conversion: another file, or the same one if it can be sent unchanged. */
  media_conversions: {
    account_id: string;
    hash: string;
    /** The purpose, with a digest of the rule. */
    target: string;
    media_id: string;
    created_at: number;
  };
  /** Contents of deleted files, until they are removed from the store. */
  unused_contents: {
    hash: string;
    unused_at: number;
    /** Until then a node removes it, and nobody may store it; null otherwise. */
    removing_until: number | null;
  };
}
