# SPDX-License-Identifier: Apache-2.0
# Plans are text, answers are data frames with the proved ends `lo` and `hi`.

neighbours_words <- c("unstated", "add-remove", "replace-one", "zero-out") # as in tradeoff/c.h
direction_words <- c("worst", "remove", "add")
questions <- c("epsilon", "delta", "beta", "tpr", "advantage", "mu") # as in src/bindings.c

one_of <- function(word, words, name) {
  if (!is.character(word) || length(word) != 1 || is.na(word) || !(word %in% words))
    stop(name, " must be one of ", paste0("\"", words, "\"", collapse = ", "), call. = FALSE)
  match(word, words) - 1L
}

one_text <- function(plan) {
  if (!is.character(plan) || length(plan) == 0 || anyNA(plan)) stop("plan must be text, for example \"gaussian(sigma=1)\"", call. = FALSE)
  paste(plan, collapse = "\n") # several lines are run on the same data
}

levels_of <- function(x, name) {
  if (!is.numeric(x) || length(x) == 0 || anyNA(x)) stop(name, " must be numbers, none of them missing", call. = FALSE)
  as.double(x)
}

tradeoff <- function(plan, neighbours = "unstated", relative = 1e-6) {
  text <- one_text(plan)
  width <- levels_of(relative, "relative")
  if (length(width) != 1 || !(width > 0 && width <= 1)) stop("relative must be one number above 0 and at most 1", call. = FALSE)
  pointer <- .Call(C_analyze, text, one_of(neighbours, neighbours_words, "neighbours"), width)
  structure(list(plan = text, pointer = pointer), class = "tradeoff")
}

as_tradeoff <- function(x) if (inherits(x, "tradeoff")) x else tradeoff(x)

ask <- function(x, question, levels, direction) {
  .Call(C_ask, as_tradeoff(x)$pointer, match(question, questions) - 1L, levels, one_of(direction, direction_words, "direction"))
}

answers_of <- function(found) structure(found, class = c("tradeoff_answers", "data.frame"))

answer <- function(x, question, name, levels, direction) {
  levels <- levels_of(levels, name)
  ends <- ask(x, question, levels, direction)
  found <- data.frame(levels, lo = ends[, 1], hi = ends[, 2])
  names(found)[1] <- name
  answers_of(found)
}

# The digits of a positive number and its exponent: 0.25 is 2 5 0 ... and -1.
decimal_of <- function(x, digits) {
  parts <- strsplit(sprintf("%.*e", digits - 1L, x), "e", fixed = TRUE)[[1]]
  list(digits = utf8ToInt(sub(".", "", parts[1], fixed = TRUE)) - 48L, exponent = as.integer(parts[2]))
}

# Whether the first decimal is larger than the second, which has at least as many digits: -1, 0 or 1.
compare_decimals <- function(a, b) {
  if (a$exponent != b$exponent) return(sign(a$exponent - b$exponent))
  difference <- c(a$digits, integer(length(b$digits) - length(a$digits))) - b$digits
  sign(c(difference[difference != 0], 0)[1])
}

# A decimal of so many digits that is not on the wrong side of x: not below it if `up`, not above it otherwise.
outward <- function(x, digits, up) {
  if (!is.finite(x) || x == 0) return(format(x))
  near <- decimal_of(abs(x), digits)
  side <- compare_decimals(near, decimal_of(abs(x), 767L)) # no double has more digits
  mantissa <- sum(near$digits * 10^(digits - seq_len(digits)))
  exponent <- near$exponent - digits + 1L
  if (up == (x > 0) && side < 0) mantissa <- mantissa + 1
  if (up != (x > 0) && side > 0) {
    if (mantissa == 10^(digits - 1L)) { # 1.00 is followed by 0.999
      mantissa <- 10^digits
      exponent <- exponent - 1L
    }
    mantissa <- mantissa - 1
  }
  whole <- sprintf("%.0f", mantissa)
  text <- paste0(if (x < 0) "-", sub("^(.)(.)", "\\1.\\2", whole), "e", exponent + nchar(whole) - 1L)
  if (abs(x) < 1e-290) text else formatC(as.numeric(text), digits = digits, width = 1, format = "g")
}

# Printed ends keep the promise: lo is rounded down, hi up.
print.tradeoff_answers <- function(x, digits = getOption("digits"), ...) {
  digits <- max(1L, min(15L, as.integer(digits)))
  shown <- x
  class(shown) <- "data.frame"
  for (end in intersect(c("lo", "hi"), names(x)))
    if (is.numeric(x[[end]])) shown[[end]] <- vapply(x[[end]], outward, "", digits = digits, up = end == "hi")
  print(shown, digits = digits, ...)
  invisible(x)
}

epsilon_at <- function(x, delta, direction = "worst") answer(x, "epsilon", "delta", delta, direction)
delta_at <- function(x, epsilon, direction = "worst") answer(x, "delta", "epsilon", epsilon, direction)
beta_at <- function(x, alpha, direction = "worst") answer(x, "beta", "alpha", alpha, direction)
tpr_at <- function(x, fpr, direction = "worst") answer(x, "tpr", "fpr", fpr, direction)
mu_of <- function(x, slack = 0) answer(x, "mu", "slack", slack, "worst")

advantage_of <- function(x, direction = "worst") {
  ends <- ask(x, "advantage", 0, direction)
  answers_of(data.frame(lo = ends[, 1], hi = ends[, 2]))
}

neighbours_of <- function(x) neighbours_words[.Call(C_neighbours_of, as_tradeoff(x)$pointer) + 1L]

check_budget <- function(x, epsilon, delta) {
  epsilon <- levels_of(epsilon, "epsilon")
  delta <- levels_of(delta, "delta")
  if (length(epsilon) != 1 || length(delta) != 1) stop("epsilon and delta must be one number each", call. = FALSE)
  c("exceeded", "within", "undecided")[.Call(C_check, as_tradeoff(x)$pointer, epsilon, delta) + 1L]
}

calibrate <- function(plan, epsilon = NULL, delta = NULL, mu = NULL, slack = NULL, advantage = NULL, fpr = NULL, tpr = NULL,
                      neighbours = "unstated") {
  given <- list(epsilon = epsilon, delta = delta, mu = mu, slack = slack, advantage = advantage, fpr = fpr, tpr = tpr)
  given <- given[!vapply(given, is.null, logical(1))]
  if (length(given) == 0) stop("give a target: epsilon and delta, mu, advantage, or fpr and tpr", call. = FALSE)
  for (name in names(given))
    if (length(levels_of(given[[name]], name)) != 1) stop(name, " must be one number", call. = FALSE)
  found <- .Call(C_calibrate, one_text(plan), one_of(neighbours, neighbours_words, "neighbours"), names(given), as.double(unlist(given)))
  list(lo = found[[1]][1], hi = found[[1]][2], safe = found[[3]], safe_end = if (found[[2]]) "hi" else "lo")
}

tradeoff_version <- function() .Call(C_version)

format.tradeoff <- function(x, ...) paste0("<tradeoff> ", gsub("\n", "; ", x$plan, fixed = TRUE))

print.tradeoff <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  cat("neighbours: ", neighbours_of(x), "\n", sep = "")
  invisible(x)
}

plot.tradeoff <- function(x, ..., alpha = seq(0, 1, by = 0.01), names = NULL, main = NULL) {
  curves <- c(list(x), Filter(function(other) inherits(other, "tradeoff"), list(...)))
  if (length(curves) != 1 + length(list(...))) stop("plot draws curves made by tradeoff(); further arguments must be such curves", call. = FALSE)
  if (is.null(names)) names <- vapply(curves, function(curve) gsub("\n", "; ", curve$plan, fixed = TRUE), "")
  if (length(names) != length(curves)) stop("names must be one text for each curve", call. = FALSE)
  colours <- rep(c("#1b4f9c", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490"), length.out = length(curves))
  before <- par(pty = "s")
  on.exit(par(before))
  plot(c(0, 1), c(0, 1), type = "n", xlab = "type I error", ylab = "type II error", xaxs = "i", yaxs = "i", main = main)
  abline(1, -1, lty = 3, col = "grey50") # no attack is better than guessing
  drawn <- lapply(seq_along(curves), function(i) {
    points <- beta_at(curves[[i]], alpha)
    polygon(c(points$alpha, rev(points$alpha)), c(points$lo, rev(points$hi)), col = colours[i], border = NA)
    lines(points$alpha, points$lo, col = colours[i], lwd = 2)
    points
  })
  legend("topright", legend = names, col = colours, lwd = 2, bty = "n")
  base::names(drawn) <- names
  invisible(drawn)
}
