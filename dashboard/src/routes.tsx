import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, createRouter, Outlet, redirect } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { api, isLoggedOut } from './api.ts';
import { LoadingLines } from './components/page/states.tsx';
import { lazyPage } from './lazyPage.tsx';
import { activitySearch } from './pages/apiKeys/activitySearch.ts';
import { chatSearch } from './pages/chats/search.ts';
import { deliveryFilters } from './pages/deliveries/filters.ts';
import { eventSearch } from './pages/events/search.ts';
import { parseSearch, stringifySearch } from './searchParams.ts';
import { accountQuery } from './shell/account.ts';
import { NotFound, NotFoundPage } from './shell/notFoundPage.tsx';
import { RouteFailure } from './shell/routeFailure.tsx';
import { Shell } from './shell/shell.tsx';

/*
 * All routes of the dashboard. `lazyPage` loads the code of a page when it is opened. Search parameters are validated
 * here, which gives them their types.
 */

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet });

/** Validates the path to open after the login. It never leaves this site. */
const validateNext = ({ next }: { next?: unknown }): { next?: string | undefined } => ({
  // Set even if it is undefined: a parameter that is missing here would keep its raw value. Browsers ignore tabs and
  // new lines in a URL.
  next: typeof next === 'string' && /^\/(?![/\\\t\r\n])/.test(next) ? next : undefined,
});

/** Redirects readers who are logged in to the page that they wanted. */
const redirectIfLoggedIn = async ({
  context: { queries },
  search: { next = '/' },
}: {
  context: { queries: QueryClient };
  search: { next?: string | undefined };
}) => {
  // The guard of the shell redirects here when nobody is logged in.
  if (isLoggedOut(queries.getQueryState(accountQuery.queryKey)?.error)) return;
  // The cached account may belong to a login that has ended. If the server cannot be reached, the form says so. A
  // failure does not go into the cache, because a page that is being left would ask for a login.
  const found = await api.auth.me().catch(() => undefined);
  if (found === undefined) return;
  queries.setQueryData(accountQuery.queryKey, found.account);
  throw redirect({ href: next, replace: true });
};

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  validateSearch: validateNext,
  beforeLoad: redirectIfLoggedIn,
  component: lazyPage(() => import('./pages/login/loginPage.tsx'), 'LoginPage'),
});
const register = createRoute({
  getParentRoute: () => root,
  path: '/register',
  validateSearch: validateNext,
  beforeLoad: redirectIfLoggedIn,
  component: lazyPage(() => import('./pages/login/registerPage.tsx'), 'RegisterPage'),
});

/** Redirects readers who are not logged in to the login, and back after it. */
const requireLogin = async ({
  context,
  location,
}: {
  context: { queries: QueryClient };
  location: { pathname: string; href: string };
}) => {
  try {
    // A cached account is enough, however old it is: the next request finds out whether the login has ended.
    await context.queries.fetchQuery({ ...accountQuery, staleTime: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (!isLoggedOut(error)) throw error;
    throw redirect({ to: '/login', search: location.pathname === '/' ? {} : { next: location.href } });
  }
};

/** The answer to an app, outside of the shell. */
const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect/$requestId',
  beforeLoad: requireLogin,
  component: lazyPage(() => import('./pages/connect/connectPage.tsx'), 'ConnectPage'),
});

/** The parent of all pages that need a login. */
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell, beforeLoad: requireLogin });

/** A page below the shell without search parameters. */
const page = <Path extends string, Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) => createRoute({ getParentRoute: () => shell, path, component: lazyPage(load, name) });

const overview = page('/', () => import('./pages/overview/overviewPage.tsx'), 'OverviewPage');
const sessions = page('/sessions', () => import('./pages/sessions/sessionsPage.tsx'), 'SessionsPage');
const session = page('/sessions/$sessionId', () => import('./pages/sessions/sessionPage.tsx'), 'SessionPage');
const chats = createRoute({
  getParentRoute: () => shell,
  path: '/chats',
  validateSearch: chatSearch,
  component: lazyPage(() => import('./pages/chats/chatsPage.tsx'), 'ChatsPage'),
});
const approvals = page('/approvals', () => import('./pages/approvals/approvalsPage.tsx'), 'ApprovalsPage');
const simulator = createRoute({
  getParentRoute: () => shell,
  path: '/simulator',
  validateSearch: chatSearch,
  component: lazyPage(() => import('./pages/simulator/simulatorPage.tsx'), 'SimulatorPage'),
});
const groups = createRoute({
  getParentRoute: () => shell,
  path: '/groups',
  validateSearch: chatSearch,
  component: lazyPage(() => import('./pages/groups/groupsPage.tsx'), 'GroupsPage'),
});
const group = page('/groups/$groupId', () => import('./pages/groups/groupPage.tsx'), 'GroupPage');
const webhooks = page('/webhooks', () => import('./pages/webhooks/webhooksPage.tsx'), 'WebhooksPage');
const webhook = page('/webhooks/$webhookId', () => import('./pages/webhooks/webhookPage.tsx'), 'WebhookPage');
const deliveries = createRoute({
  getParentRoute: () => shell,
  path: '/deliveries',
  validateSearch: deliveryFilters,
  component: lazyPage(() => import('./pages/deliveries/deliveriesPage.tsx'), 'DeliveriesPage'),
});
const delivery = page('/deliveries/$deliveryId', () => import('./pages/deliveries/deliveryPage.tsx'), 'DeliveryPage');
const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: eventSearch,
  component: lazyPage(() => import('./pages/events/eventsPage.tsx'), 'EventsPage'),
});
const keys = page('/keys', () => import('./pages/apiKeys/apiKeysPage.tsx'), 'ApiKeysPage');
const keyActivity = createRoute({
  getParentRoute: () => shell,
  path: '/keys/$keyId',
  validateSearch: activitySearch,
  component: lazyPage(() => import('./pages/apiKeys/activityPage.tsx'), 'ActivityPage'),
});
const tools = page('/tools', () => import('./pages/mcp/mcpPage.tsx'), 'McpPage');
const account = page('/account', () => import('./pages/account/accountPage.tsx'), 'AccountPage');

const notFound = createRoute({ getParentRoute: () => shell, path: '$', component: NotFoundPage });

const routeTree = root.addChildren([
  login,
  register,
  connect,
  shell.addChildren([
    overview,
    sessions,
    session,
    chats,
    approvals,
    simulator,
    groups,
    group,
    webhooks,
    webhook,
    deliveries,
    delivery,
    events,
    keys,
    keyActivity,
    tools,
    account,
    notFound,
  ]),
]);

export function createAppRouter(queries: QueryClient) {
  return createRouter({
    routeTree,
    parseSearch,
    stringifySearch,
    context: { queries },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultPendingComponent: () => <LoadingLines count={6} />,
    defaultErrorComponent: RouteFailure,
    defaultNotFoundComponent: NotFound,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
