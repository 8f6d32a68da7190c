# R's contestant of W3a: Rscript w3a_loglin.R TABLE STATES VARIABLES LIMIT REPEATS RESULT.json
# TABLE holds 32-bit counts, the first axis fastest. CPU time is user + system of this process, to the millisecond.

asked <- commandArgs(trailingOnly = TRUE)
states <- as.integer(asked[2]); variables <- as.integer(asked[3])
limit <- as.double(asked[4]); repeats <- as.integer(asked[5])
counts <- array(as.double(readBin(asked[1], "integer", states^variables, size = 4)), rep(states, variables))
pairs <- combn(variables, 2, simplify = FALSE)
eps <- limit * sum(counts)  # loglin stops by the largest marginal error in counts

peak <- function() {
  lines <- tryCatch(readLines("/proc/self/status"), error = function(e) character())
  line <- grep("^VmHWM", lines, value = TRUE)
  if (length(line)) as.double(gsub("[^0-9]", "", line)) / 1024 else NaN
}

timed <- function() {
  began <- proc.time()
  fitted <- loglin(counts, pairs, fit = TRUE, eps = eps, iter = 1000, print = FALSE)
  took <- proc.time() - began
  list(fitted = fitted, cpu = took[["user.self"]] + took[["sys.self"]], wall = took[["elapsed"]])
}

before <- peak()
first <- timed()
later <- lapply(seq_len(repeats), function(i) timed())
most <- peak()
fitted <- first$fitted$fit
gap <- max(sapply(pairs, function(pair) max(abs(apply(fitted, pair, sum) - apply(counts, pair, sum)))))
told <- capture.output(loglin(counts, pairs, eps = eps, iter = 1000, print = TRUE))
steps <- as.integer(sub(" iterations.*", "", grep("iterations", told, value = TRUE)[1]))

number <- function(x) paste(ifelse(is.nan(x), "NaN", sprintf("%.17g", x)), collapse = ", ")
in_c_order <- as.vector(aperm(fitted, rev(seq_len(variables)))) / sum(counts)
cat(sprintf(
  paste0('{"version": "%s", "first_cpu": %s, "first_wall": %s, "cpu": %s, "wall": %s, "repeats": %d, "before": %s, ',
         '"peak": %s, "answer": {"gap": [%s], "steps": [%d], "values": [%s]}}'),
  getRversion(), number(first$cpu), number(first$wall), number(min(sapply(later, `[[`, "cpu"))),
  number(min(sapply(later, `[[`, "wall"))), repeats, number(before), number(most), number(gap / sum(counts)), steps, "VALUES"
) |> sub(pattern = "VALUES", replacement = number(in_c_order), fixed = TRUE), file = asked[6])
