import './style.css';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isLoggedOut } from './api.ts';
import { ToastProvider } from './components/toast.tsx';
import { createAppRouter } from './routes.tsx';
import { accountQuery } from './shell/account.ts';
import { followOtherTabs } from './shell/tabs.ts';
import { followSystemTheme } from './theme.ts';

// The style sheet that stops the page from scrolling behind a dialog needs the nonce of this page.
setNonce(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '');
followSystemTheme();
followOtherTabs();

/** Leads to the login when it ends while a page is open: the guard of the shell checks the login again. */
const leaveIfLoggedOut = (error: unknown) => {
  if (!isLoggedOut(error) || ['/login', '/register'].includes(router.state.location.pathname)) return;
  queries.removeQueries({ queryKey: accountQuery.queryKey });
  void router.invalidate();
};
const queries = new QueryClient({
  queryCache: new QueryCache({
    // The guard of the shell handles the account query itself.
    onError: (error, query) => query.queryKey[0] === 'account' || leaveIfLoggedOut(error),
  }),
  mutationCache: new MutationCache({ onError: leaveIfLoggedOut }),
  // The SDK retries requests, and events say when data has changed.
  defaultOptions: { queries: { retry: false, staleTime: 5000 } },
});
const router = createAppRouter(queries);

const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no #root');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <RouterProvider router={router} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
