import { defaultScopes, knownScopes } from './scopes.ts';

/** Where the OAuth server answers, below the origin of `PUBLIC_URL`. */
export const paths = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
} as const;

/** The cookie in which the library would remember the person. No browser keeps it. */
export const SESSION_COOKIE = 'switchboard-oauth-session';

/**
 * The parameters of an authorization request that this server knows. Others, such as those of OpenID Connect, are
 * dropped.
 */
const PARAMETERS = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'prompt',
];
const PROMPTS: readonly string[] = ['none', 'login', 'consent'];
/** An unknown mode, which the library refuses. Its `form_post` would be a page with a script. */
const REFUSED_MODE = 'not_supported';

/** Returns the query of an authorization request as the library gets it. */
export function authorizationQuery(given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams([...given].filter(([name]) => PARAMETERS.includes(name)));
  if (query.getAll('scope').length < 2) {
    const scopes = knownScopes(query.get('scope') ?? '');
    query.set('scope', (scopes.length > 0 ? scopes : defaultScopes).join(' '));
  }
  const prompts =
    query
      .get('prompt')
      ?.split(' ')
      .filter((prompt) => PROMPTS.includes(prompt)) ?? [];
  if (prompts.length === 0) query.delete('prompt');
  else query.set('prompt', prompts.join(' '));
  const mode = query.get('response_mode');
  if (mode !== null && mode !== 'query') query.set('response_mode', REFUSED_MODE);
  return query;
}

/** Returns the form of a token request as the library gets it. */
export function tokenForm(given: URLSearchParams): URLSearchParams {
  const form = new URLSearchParams(given);
  if (form.getAll('scope').length !== 1) return form;
  const scopes = knownScopes(form.get('scope') ?? '');
  // Without a scope, the tokens keep what was granted.
  if (scopes.length === 0) form.delete('scope');
  else form.set('scope', scopes.join(' '));
  return form;
}
