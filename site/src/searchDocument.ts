/** A result of the search: a section of a page, an operation or an error. */
export interface SearchDocument {
  /** Its address. */
  readonly id: string;
  /** The page that it is on. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  /** Words that readers type for this page, although it says them otherwise. Only for the first section of a page. */
  readonly keywords?: string;
  /** Factor of the score, below 1 for background reading. */
  readonly weight?: number;
  /** The verb and the nouns of an operation, such as `messages send`. */
  readonly operation?: string;
}
