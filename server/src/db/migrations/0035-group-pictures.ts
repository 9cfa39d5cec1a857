import type { Migration } from './migration.ts';

/** Finds the group that a file is the picture of, without reading all groups of the account. */
export const groupPictures: Migration = {
  version: 35,
  name: 'group pictures',
  statements: () => [
    'create index groups_picture on groups (account_id, picture_media_id) where picture_media_id is not null',
  ],
};
