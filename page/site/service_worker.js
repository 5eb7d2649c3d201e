// SPDX-License-Identifier: Apache-2.0
// Keeps the files of the page, so that it works without a network after the first visit. It knows no other files and asks no other host.
const cache_name = "tradeoff-@VERSION@";
const files = ["./", "@FILES@"];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(cache_name)
      .then((cache) => cache.addAll(files.map((file) => new Request(file, { cache: "reload" }))))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("tradeoff-") && name !== cache_name;
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
  event.respondWith(caches.match(event.request, { ignoreSearch: true }).then((found) => found ?? fetch(event.request)));
});
