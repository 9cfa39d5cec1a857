/** People that a message mentions. The others are left out. */
export const MENTIONS = 1024;
