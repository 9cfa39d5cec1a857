/** The parts of Bruno's own parser that the tests use. It has no types. */
declare module '@usebruno/lang' {
  interface BrunoRequest {
    readonly http: { readonly method: string; readonly url: string; readonly body: string; readonly auth: string };
    readonly params?: readonly { readonly name: string; readonly type: string }[];
    readonly body?: { readonly json?: string };
  }
  interface BrunoLang {
    bruToJsonV2(text: string): BrunoRequest;
    bruToEnvJsonV2(text: string): { variables: { name: string; secret: boolean }[] };
    collectionBruToJson(text: string): { auth?: { mode: string; bearer?: { token: string } } };
  }
  const lang: BrunoLang;
  export default lang;
}
