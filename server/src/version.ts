import packageJson from '../package.json' with { type: 'json' };

export const version: string = packageJson.version;

/** The command that starts the server: the package has compiled code, a checkout has sources. */
export const startCommand = import.meta.url.endsWith('.ts') ? 'npm start --' : 'switchboard start';

export const API_PREFIX = '/api/v1';
