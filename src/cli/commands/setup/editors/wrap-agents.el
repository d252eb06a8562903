{{first}}
(defun acp-skills-wrap (arguments)
  "Start the agent that ARGUMENTS of `acp-make-client' name through acp-skills."
  (let ((command (plist-get arguments :command))
        (params (plist-get arguments :command-params))
        (program {{program}})
        (words '({{words}})))
    (if (or (null command)
            (string-suffix-p "acp-skills" command)
            (member (car words) params))
        arguments
      (plist-put (plist-put (copy-sequence arguments) :command program)
                 :command-params (append words (list command) params)))))
(with-eval-after-load 'acp
  (advice-add 'acp-make-client :filter-args #'acp-skills-wrap))
{{last}}
