/** A result of the search: a section of a page, an operation or an error. */
export interface SearchDocument {
  /** Its address. */
  readonly id: string;
  /** The page that it is on. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}
