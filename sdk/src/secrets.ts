/** The secret of a webhook, or several during a rotation: any of them may match. */
export type Secret = string | readonly string[];

/** @throws {TypeError} for an empty secret, with which anyone can sign: `process.env.SECRET ?? ''` must fail. */
export function readSecrets(secret: Secret): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const areUsable = Array.isArray(secrets) && secrets.every((each) => typeof each === 'string' && each !== '');
  if (!areUsable || secrets.length === 0) {
    throw new TypeError('`secret` must be a string that is not empty, or a list of such strings');
  }
  return secrets;
}
