import packageJson from '../package.json' with { type: 'json' };

export const version: string = packageJson.version;

export const API_PREFIX = '/api/v1';
