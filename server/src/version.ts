import packageJson from '../package.json' with { type: 'json' };

/** The product's version in `package.json`. */
export const version: string = packageJson.version;

/** The prefix of every operation's path. */
export const API_PREFIX = '/api/v1';
