/*
 * Checks of the conformance suite that are missed, with the reason. `scenario` stands for all of its checks, and
 * `scenario:check` for one. A missed check that is not listed fails the test, and so does an entry that no check needs.
 */

/** Names of scenarios and checks, with the reason why they are excluded. */
export type Exclusions = Readonly<Record<string, string>>;

const allFor = (reason: string, names: readonly string[]): Exclusions =>
  Object.fromEntries(names.map((name) => [name, reason]));

const tasks = allFor('The Tasks extension is optional and not served: every tool answers within its request.', [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
  'tasks-status-notifications',
]);

const sessions = allFor('A warning: a stream beside the answers, and its resumption, belong to a session.', [
  'server-sse-multiple-streams',
  'server-sse-polling',
]);

/** Run against the fixtures. */
const named = allFor('Requests a tool, resource or prompt of the fixtures by name.', [
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'json-schema-2020-12',
  'completion-complete',
]);

export const fixtureExclusions: Readonly<Record<string, Exclusions>> = {
  '2026-07-28': tasks,
  '2025-11-25': sessions,
};

export const productExclusions: Readonly<Record<string, Exclusions>> = {
  '2026-07-28': {
    ...tasks,
    ...named,
    ...allFor('Requests a tool or prompt of the fixtures that asks the client for input.', [
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'server-stateless:sep-2575-server-rejects-undeclared-capability',
      'server-stateless:sep-2575-missing-capability-http-400',
      'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
    ]),
    'server-stateless:sep-2575-server-no-log-without-loglevel': 'No tool of the product sends logs to the client.',
    ...allFor('The lists change only with the permissions of the key, and this is not announced.', [
      'server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription',
      'server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription',
    ]),
    'http-custom-header-server-validation': 'No tool of the product has a parameter that is mirrored in a header.',
  },
  '2025-11-25': {
    ...sessions,
    ...named,
    ...allFor('Requests a tool of the fixtures that asks the client for input.', [
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
    ]),
    ...allFor('The product does not send logs to the client.', ['logging-set-level', 'tools-call-with-logging']),
    ...allFor('Subscriptions of this revision belong to a session. Events come by webhook or GET /events/stream.', [
      'resources-subscribe',
      'resources-unsubscribe',
    ]),
  },
};
