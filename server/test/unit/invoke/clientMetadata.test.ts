import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClientMetadataError, describeRedirect, readClientMetadata } from '../../../src/oauth/clientMetadata.ts';
import { authorizationQuery, tokenForm } from '../../../src/oauth/requests.ts';
import { defaultScopes } from '../../../src/oauth/scopes.ts';

const CALLBACK = 'https://app.example.com/callback';

it('keeps the name, the website, the redirects and the grants of a client, and nothing else', () => {
  assert.deepEqual(
    readClientMetadata({
      client_name: '  App\u200b\u202e\nname ',
      client_uri: 'https://app.example.com',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'implicit', 'refresh_token'],
      response_types: ['token'],
      application_type: 'web',
      token_endpoint_auth_method: 'client_secret_basic',
      jwks: { keys: [] },
      scope: 'all',
      contacts: ['x'],
    }),
    {
      client_name: 'App name',
      client_uri: 'https://app.example.com/',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
  );
});

it('lets a client refresh unless it says that it does not', () => {
  const grantsOf = (grant_types?: unknown) =>
    readClientMetadata({ redirect_uris: [CALLBACK], grant_types }).grant_types;
  assert.deepEqual(grantsOf(), ['authorization_code', 'refresh_token']);
  assert.deepEqual(grantsOf(['authorization_code']), ['authorization_code']);
  for (const wrong of [[], ['refresh_token'], 'authorization_code', 5])
    assert.throws(() => grantsOf(wrong), { code: 'invalid_client_metadata' });
});

it('leaves out a website that is no https address', () => {
  for (const client_uri of ['http://app.example.com', 'javascript:alert(1)', 'https://a:b@app.example.com', 5, 'x'])
    assert.equal(readClientMetadata({ redirect_uris: [CALLBACK], client_uri }).client_uri, undefined);
});

it('accepts redirects over https, to this device, and by the private scheme of an app', () => {
  for (const uri of [
    CALLBACK,
    'http://localhost:3000/callback',
    'http://127.0.0.1/callback',
    'http://[::1]:3000/',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'com.example.app:/callback',
  ])
    assert.deepEqual(readClientMetadata({ redirect_uris: [uri] }).redirect_uris, [uri]);
});

it('refuses redirects that a browser would run, that leak, or that are no addresses', () => {
  for (const uri of [
    'http://app.example.com/callback',
    'http://localhost.example.com/',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'blob:https://app.example.com/x',
    'file:///etc/passwd',
    'view-source:https://app.example.com',
    'intent://scan/#Intent;end',
    'about:blank',
    `${CALLBACK}#fragment`,
    'https://user@app.example.com/',
    'https:\\\\app.example.com',
    'relative/path',
    '',
    null,
    {},
  ])
    assert.throws(
      () => readClientMetadata({ redirect_uris: [uri] }),
      (error) => error instanceof ClientMetadataError && error.code === 'invalid_redirect_uri',
      String(uri),
    );
});

it('names the host of a redirect, and tells whether it leads to this device', () => {
  assert.deepEqual(describeRedirect(`${CALLBACK}?x=evil.com`), { host: 'app.example.com', isLocal: false });
  assert.deepEqual(describeRedirect('http://localhost:3000/x'), { host: 'localhost:3000', isLocal: true });
  assert.deepEqual(describeRedirect('cursor://evil.example.com/x'), { host: 'cursor://', isLocal: true });
  assert.equal(describeRedirect('https://аpp.example.com/').host, 'xn--pp-6kc.example.com');
});

it('passes on only the known parameters of a request, with the scopes that exist', () => {
  const pass = (query: string) => Object.fromEntries(authorizationQuery(new URLSearchParams(query)));
  assert.deepEqual(
    pass('client_id=a&scope=openid+messages:read+admin&nonce=1&claims=x&request=y&request_uri=z&prompt=select_account'),
    { client_id: 'a', scope: 'messages:read' },
  );
  assert.deepEqual(pass('state=s'), { state: 's', scope: defaultScopes.join(' ') });
  assert.equal(pass('response_mode=form_post')['response_mode'], 'not_supported');
  assert.equal(pass('response_mode=query&prompt=login+consent')['prompt'], 'login consent');
  // The library refuses a parameter that is given twice.
  assert.deepEqual(authorizationQuery(new URLSearchParams('client_id=a&client_id=b')).getAll('client_id'), ['a', 'b']);
});

it('leaves unknown scopes out of a token request', () => {
  const scopeOf = (form: string) => tokenForm(new URLSearchParams(form)).get('scope');
  assert.equal(scopeOf('scope=offline_access'), null);
  assert.equal(scopeOf('scope=offline_access+chats:read'), 'chats:read');
  assert.equal(scopeOf('code=x'), null);
});
