import packageJson from '../package.json' with { type: 'json' };

/** The product's version, as `package.json` has it. */
export const version: string = packageJson.version;

/** What the path of every operation begins with. */
export const API_PREFIX = '/api/v1';
