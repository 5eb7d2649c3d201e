# SPDX-License-Identifier: Apache-2.0
# Answers against R's own distribution functions, and bad input.
library(tradeoff)

encloses <- function(answer, truth, slop = 1e-13) stopifnot(all(answer$lo - slop <= truth), all(truth <= answer$hi + slop))
tight <- function(answer, width) stopifnot(all(answer$hi - answer$lo <= width), all(answer$lo <= answer$hi))

# Gaussian noise: closed forms of Balle and Wang, and of Dong, Roth and Su.
mu <- 0.8
curve <- tradeoff("gaussian(sigma=1.25)")
epsilon <- c(-1, 0, 0.3, 1, 2)
found <- delta_at(curve, epsilon)
encloses(found, pnorm(mu / 2 - epsilon / mu) - exp(epsilon) * pnorm(-mu / 2 - epsilon / mu))
tight(found, 1e-9)
alpha <- seq(0.01, 0.99, by = 0.07)
encloses(beta_at(curve, alpha), pnorm(qnorm(1 - alpha) - mu), 1e-10)
tight(beta_at(curve, alpha), 1e-6)
encloses(tpr_at(curve, alpha), 1 - pnorm(qnorm(1 - alpha) - mu), 1e-10)
encloses(advantage_of(curve), 2 * pnorm(mu / 2) - 1)
encloses(mu_of(curve), mu)
stopifnot(abs(epsilon_at(curve, found$lo[4])$lo - 1) < 1e-6)

# One Laplace mechanism of scale 1: epsilon at delta 0 is 1; beta of (epsilon, 0)-DP bounds it.
laplace <- tradeoff("laplace(scale=1)")
encloses(epsilon_at(laplace, 0), 1)
stopifnot(all(beta_at(laplace, alpha)$hi >= pmax(0, 1 - exp(1) * alpha, exp(-1) * (1 - alpha))))

# The number that was typed: 1e-5, which no double is.
stated <- epsilon_at("dp(epsilon=0.3, delta=1e-5)", 1e-5)
encloses(stated, 0.3, 0)
stopifnot(check_budget("dp(epsilon=0.3, delta=1e-5)", 0.3, 1e-5) == "within")
stopifnot(check_budget("gaussian(sigma=1)", 1, 0.126) == "exceeded")
stopifnot(delta_at(curve, Inf)$hi <= 1e-300)

# A training run, as the command line answers it.
run <- tradeoff("gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)")
encloses(epsilon_at(run, 1e-5), 2.3816897261416, 1e-9)
stopifnot(neighbours_of(run) == "add-remove", neighbours_of(curve) == "unstated")
stopifnot(grepl("poisson", format(run)), nchar(tradeoff_version()) >= 5)
both <- tradeoff(c("gaussian(sigma=2)", "gaussian(sigma=2)"))
encloses(mu_of(both), sqrt(0.5), 1e-6)

# Calibration: the safe value meets the target, a smaller one does not.
sigma <- calibrate("gaussian(sigma=?)", epsilon = 1, delta = 1e-6)
stopifnot(sigma$safe_end == "hi", sigma$lo <= sigma$hi)
stopifnot(check_budget(paste0("gaussian(sigma=", sigma$safe, ")"), 1, 1e-6) == "within")
stopifnot(check_budget(paste0("gaussian(sigma=", sigma$lo * 0.999, ")"), 1, 1e-6) == "exceeded")

# Printed ends are on the safe side of the computed ones, and no further away than one unit of the last digit.
for (digits in c(1, 3, 7, 15)) {
  answers <- list(mu_of("laplace(scale=1)"), epsilon_at("laplace(scale=2) | repeat(50)", c(1e-6, 1e-5)), advantage_of(curve),
                  beta_at(curve, alpha), delta_at("gaussian(sigma=1)", c(-1, 30, 36)), epsilon_at("dp(epsilon=0.5)", 0))
  for (one in answers) {
    shown <- read.table(text = capture.output(print(one, digits = digits)), header = TRUE)
    stopifnot(shown$lo <= one$lo, one$hi <= shown$hi, one$lo - shown$lo <= one$lo * 1.001 * 10^(1 - digits),
              shown$hi - one$hi <= one$hi * 1.001 * 10^(1 - digits))
  }
}
ends <- function(x, digits) c(tradeoff:::outward(x, digits, FALSE), tradeoff:::outward(x, digits, TRUE))
stopifnot(ends(0.25, 7) == c("0.25", "0.25"), ends(9.9999996, 7) == c("9.999999", "10"), ends(-0.30000001, 3) == c("-0.301", "-0.3"),
          ends(9.7e21, 1) == c("9e+21", "1e+22"), ends(2e-310, 2) == c("1.9e-310", "2.0e-310"), ends(-Inf, 7) == "-Inf", ends(0, 7) == "0",
          ends(1.7976931348623157e308, 7) == c("1.797693e+308", "Inf"), ends(0.1, 3) == c("0.1", "0.101"))

# Bad input is an error that names it, and later calls work.
fails <- function(call, pattern) {
  message <- tryCatch({ call; "no error" }, error = conditionMessage)
  if (!grepl(pattern, message)) stop("expected '", pattern, "', got '", message, "'")
}
fails(tradeoff("gausian(sigma=1)"), "gaussian")
fails(tradeoff("gaussian(sigma=-1)"), "sigma")
fails(tradeoff(1), "plan must be text")
fails(tradeoff(NA_character_), "plan must be text")
fails(tradeoff("gaussian(1)", neighbours = "all"), "neighbours")
fails(tradeoff("gaussian(1)", relative = 0), "relative")
fails(epsilon_at(curve, 1.5), "delta")
fails(epsilon_at(curve, NA), "delta")
fails(epsilon_at(curve, numeric()), "delta")
fails(delta_at(curve, 1, direction = "up"), "direction")
fails(calibrate("gaussian(sigma=?)"), "give a target")
fails(calibrate("gaussian(sigma=?)", epsilon = 1), "delta")
fails(calibrate("gaussian(sigma=?)", epsilon = c(1, 2), delta = 1e-5), "epsilon")
fails(plot(curve, "gaussian(1)"), "curves")
saved <- tempfile()
saveRDS(curve, saved)
fails(epsilon_at(readRDS(saved), 1e-5), "make it again")
for (other in list(NULL, 3, "pointer", new.env(), tradeoff:::C_version$address)) # the last one is a pointer, not ours
  fails(epsilon_at(structure(list(plan = "laplace(scale=1)", pointer = other), class = "tradeoff"), 1e-5), "not a curve")
encloses(epsilon_at(laplace, 0), 1)

pdf(NULL)
drawn <- plot(curve, laplace, names = c("a", "b"))
stopifnot(identical(names(drawn), c("a", "b")), nrow(drawn$a) == 101)
invisible(dev.off())
